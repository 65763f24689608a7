"""The bus: transport of records between services; the store is the record."""
