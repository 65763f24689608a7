"""Small PDF files for tests."""

import zlib
from collections.abc import Sequence


def pdf_of(pages: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF whose pages show these lines, in the characters of ASCII."""
    return pdf_of_streams([_content(lines) for lines in pages])


def pdf_of_streams(pages: Sequence[bytes]) -> bytes:
    """Return a PDF whose pages have these streams."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(pages):
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            stream,
        ]
    return _file(objects)


def _content(lines: Sequence[str]) -> bytes:
    shown = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in lines]
    text = "BT /F1 11 Tf 14 TL 60 780 Td " + " ".join(f"({line}) Tj T*" for line in shown) + " ET"
    return stream_of(zlib.compress(text.encode("ascii")))


def stream_of(packed: bytes) -> bytes:
    """Return a compressed stream."""
    head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
    return head + packed + b"\nendstream"


def _file(objects: Sequence[bytes]) -> bytes:
    file = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return file + tail.encode() + f"startxref\n{len(file)}\n%%EOF\n".encode()
