"""From a file to columns and what they are: `files` is the door, each format and each kind has its module."""
