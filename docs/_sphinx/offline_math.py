"""Formulas as MathML, which browsers draw by themselves: MathJax would have to be fetched from elsewhere."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

__all__ = ["setup"]


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        getLogger(__name__).warning("%s", error, location=node)
        return ""


def _inline(writer, node: nodes.math) -> None:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(writer, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer "mathml"."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
