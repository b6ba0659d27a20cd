"""From a file to columns and what they are: doors are `files` and `parting`."""
