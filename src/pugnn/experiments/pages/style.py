"""Colours and style sheet of the HTML pages, in light and dark."""

from __future__ import annotations

#: Up to six rows in the foreground: Okabe and Ito's colours, the pale ones darkened for a white page.
STRONG_LIGHT = ("#c04a00", "#0067a5", "#007f5c", "#a8558a", "#b07a00", "#3a98cf")
STRONG_DARK = ("#f08246", "#5aaeea", "#35bd92", "#dc98c2", "#e8b23c", "#9ad4f5")

#: Up to eight rows in the background: the same hues, close to grey; the labels tell them apart.
WEAK_LIGHT = ("#8c8c8c", "#8b97a3", "#86988f", "#9c8f98", "#a0977f", "#a38f86", "#7f8f93", "#6f7a6a")
WEAK_DARK = ("#8a8a8a", "#7f8c99", "#7b8e85", "#93858f", "#968d76", "#99857c", "#76878b", "#a5b09c")


def colour(place: int, strong: bool) -> str:
    """Paint of the row with this place among the rows in the foreground or background; works without the sheet too."""
    name, palette = ("strong", STRONG_LIGHT) if strong else ("weak", WEAK_LIGHT)
    place %= len(palette)
    return f"var(--{name}{place}, {palette[place]})"


def _variables(strong: tuple[str, ...], weak: tuple[str, ...], **others: str) -> str:
    named = {
        **{f"strong{place}": value for place, value in enumerate(strong)},
        **{f"weak{place}": value for place, value in enumerate(weak)},
        **others,
    }
    return " ".join(f"--{name}: {value};" for name, value in named.items())


_LIGHT = _variables(
    STRONG_LIGHT, WEAK_LIGHT, page="#fff", ink="#1b1b1b", quiet="#626262", rule="#d9d9d9", heat="#2f78b7"
)
_DARK = _variables(
    STRONG_DARK, WEAK_DARK, page="#16181b", ink="#e6e6e6", quiet="#a2a6ab", rule="#3a3e44", heat="#5a9fdc"
)

STYLE = f"""
:root {{ color-scheme: light dark; {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }}
main {{ max-width: 56rem; margin: 0 auto; padding: 2rem 1rem 4rem; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }}
h2 {{ font-size: 1.25rem; margin: 3rem 0 .5rem; padding-top: .75rem; border-top: 2px solid var(--ink); }}
h3 {{ font-size: 1.05rem; margin: 2rem 0 .5rem; }}
p {{ margin: .5rem 0; max-width: 44rem; overflow-wrap: break-word; }}
p.note {{ color: var(--quiet); font-size: .875rem; }}
code {{ font: .9em ui-monospace, monospace; }}
nav ul {{ margin: 1rem 0; padding-left: 1.2rem; }}
a {{ color: inherit; }}
.scroll {{ overflow-x: auto; margin: 1rem 0; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; line-height: 1.3; }}
thead th {{ border-bottom: 1px solid var(--ink); vertical-align: bottom; }}
table {{ border-top: 1px solid var(--ink); border-bottom: 1px solid var(--ink); }}
th, td {{ padding: .35rem .8rem; text-align: right; vertical-align: top; white-space: nowrap; font-weight: normal; }}
tbody tr + tr > * {{ border-top: 1px solid var(--rule); }}
th:first-child {{ text-align: left; position: sticky; left: 0; background: var(--page); }}
td strong {{ font-weight: 700; }}
.under {{ display: block; color: var(--quiet); font-size: .8rem; }}
figure {{ margin: 1rem 0; overflow-x: auto; }}
figure svg {{ display: block; width: 100%; min-width: 33rem; height: auto; }}
.series {{ transition: opacity .15s; }}
svg:hover .series {{ opacity: .3; }}
svg .series:hover {{ opacity: 1; }}
@media print {{ main {{ max-width: none; padding: 0; }} figure, tr {{ break-inside: avoid; }} }}
@media (max-width: 40rem) {{ main {{ padding-top: 1rem; }} th, td {{ padding: .35rem .55rem; }} }}
"""
