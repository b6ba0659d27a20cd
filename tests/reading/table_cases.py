"""Reading a whole table in one call, for tests."""

from foresift.reading.files import open_table


def read_table(path, *, text=(), drop=(), **options):
    return open_table(path, **options).read(text=text, drop=drop)
