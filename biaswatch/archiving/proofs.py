"""Whether a file still holds what was written to it, by reading all of it."""

from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.parquet.parts import digest_of_bytes
from biaswatch.shared.parquet.rows import Proof, proof_of
from biaswatch.shared.store.archive_files import ArchiveFile


def is_whole(folder: ParquetFolder, file: ArchiveFile) -> bool:
    """Tell whether a file holds what the store says: by its bytes, or in the archive by its rows.

    Raises
    ------
    TransientError
        It cannot be read now.
    """
    if file.uri:
        return digest_of_bytes(folder, file.path) == file.digest
    return proof_of(folder, file.path) == Proof(file.rows, file.digest)
