"""A page of the report as the tests read it."""

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags with the names of their attributes, the values of those, the text, and the script's data."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.values, self.texts, self.stack = [], [], [], []
        self.inside = {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.values += attrs
        self.stack.append(dict(attrs).get("id") or tag)

    def handle_endtag(self, tag):
        self.tags.append(("/" + tag, ()))
        self.stack.append("")

    def handle_comment(self, data):
        self.tags.append(("comment", ()))

    def handle_data(self, data):
        place = self.stack[-1] if self.stack else ""
        self.inside[place] = self.inside.get(place, "") + data
        if place not in ("style", "script", "data"):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    @property
    def data(self):
        return json.loads(self.inside["data"])
