# ===- _drawing_page.py - A graph of a program as SVG and as a page ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boxes in boxes, in the order of the program, and what flows between them at the right. One page has all that it needs: no
script, no style and no font of another file."""
from __future__ import annotations

import hashlib
import html
import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._drawing import Box, Graph, Node

ENDS = ("input", "state", "output")
# Nodes and boxes that are seen at first.
MOST = 60
_WIDTH, _ROW, _GAP, _PAD, _MOST_ARC, _LABEL = 560, 24, 5, 12, 200, 80
_LETTER = 6.6  # the width of one, about
_STYLE = """.lm text{font:12px sans-serif}.lm .e text,.lm .k{font-size:10.5px;fill:#666}.lm rect{fill:#fff;stroke:#999;rx:4}
.lm .b>rect{fill:#f3f6fa;stroke:#7a93b0}.lm .b .b>rect{fill:#fbfcfe}.lm .b>text.h{font-weight:bold}.lm .end>rect{fill:#eef6ee;rx:11}
.lm .i>rect.t{fill:#f6c890;stroke:none;rx:2}.lm .e path{fill:none;stroke:#8a8a8a}.lm .e .on path{stroke:#c0392b;stroke-width:2}
.lm .e .on text{fill:#c0392b;font-weight:bold}.lm .c>.i{display:none}.lm.live .b>.h{cursor:pointer}"""
_PAGE = "body{font:14px/1.4 sans-serif;margin:1.5em}h1{font-size:1.3em}button{font:inherit}"
_LEGEND = ("Boxes are modules. Rows are the steps of a call, in order. An arrow shows the bytes that one step passes to another. Bars and "
           "times are those of a profile.")

# Computes the positions of `_place` and `_edges` in the browser when boxes are opened or closed.
_SCRIPT = """(()=>{for(const svg of document.querySelectorAll('svg.lm:not(.live)')){
const data=JSON.parse(svg.querySelector('script').textContent),[W,ROW,GAP,PAD,ARC,LABEL]=data.sizes,NS=svg.namespaceURI;
const items=[...svg.querySelectorAll('.i')],nodes=[];for(const i of items)if(i.dataset.n)nodes[i.dataset.n]=i;
const edges=svg.querySelector('.e'),inside=g=>[...g.children].filter(c=>c.classList.contains('i'));
svg.classList.add('live');
const size=b=>{if(isNaN(b))return'';if(b<1000)return b.toFixed(0)+' B';let u=0;for(b/=1000;b>=999.5&&u<3;u++)b/=1000;
return b.toFixed(b<9.995?2:b<99.95?1:0)+' '+'KMGT'[u]+'B'};
function stack(g,h){for(const c of inside(g)){c.setAttribute('transform',`translate(${g===svg?0:PAD},${h})`);
h+=(c.classList.contains('b')?stack(c,ROW):ROW)+GAP}
if(g===svg)return h;const open=!g.classList.contains('c');h=open?h-GAP+PAD:ROW;g.firstElementChild.setAttribute('height',h);return h}
function seen(i){let found=i;for(let g=i.parentNode;g!==svg;g=g.parentNode)if(g.classList.contains('c'))found=g;return found}
function at(i){let x=0,y=0;for(let g=i;g!==svg;g=g.parentNode){const m=g.transform.baseVal.consolidate().matrix;x+=m.e;y+=m.f}
return[x+ +i.firstElementChild.getAttribute('width'),y+ROW/2]}
function make(parent,name,given){const e=document.createElementNS(NS,name);for(const k in given)e.setAttribute(k,given[k]);
return parent.appendChild(e)}
function draw(){const height=stack(svg,GAP)+GAP,sums=new Map;edges.replaceChildren();
svg.setAttribute('height',height);svg.setAttribute('viewBox',`0 0 ${W+ARC+LABEL} ${height}`);
for(const[a,b,bytes]of data.edges){const s=seen(nodes[a]),t=seen(nodes[b]);if(s===t)continue;
const key=items.indexOf(s)+' '+items.indexOf(t),sum=sums.get(key)||{s,t,bytes:0};sum.bytes+=bytes??NaN;sums.set(key,sum)}
for(const{s,t,bytes}of sums.values()){const[x,y]=at(s),[u,v]=at(t),X=W+Math.min(ARC,12+.25*Math.abs(v-y));
const g=make(edges,'g',{});g.ends=[s,t];
make(g,'path',{d:`M${x} ${y+4}C${X} ${y+4} ${X} ${v-4} ${u} ${v-4}`,'marker-end':`url(#${svg.id}-m)`});
make(g,'text',{x:.75*X+.125*(x+u)+4,y:(y+v)/2+4}).textContent=size(bytes)}}
function toggle(b,close){b.classList.toggle('c',close);b.querySelector('.m').textContent=b.classList.contains('c')?'+':'\\u2212'}
for(const b of items.filter(i=>i.classList.contains('b')))for(const h of b.querySelectorAll(':scope>.h'))
h.addEventListener('click',()=>{toggle(b);draw()});
for(const i of items)for(const[kind,on]of[['mouseover',true],['mouseout',false]])i.addEventListener(kind,event=>{event.stopPropagation();
for(const g of edges.children)g.classList.toggle('on',on&&(g.ends||[]).some(e=>i.contains(e)&&(e===seen(e)||e===i)))});
for(const button of document.querySelectorAll(`[data-of="${svg.id}"]`))button.addEventListener('click',()=>{
for(const b of items)if(b.classList.contains('b'))toggle(b,button.dataset.close==='1');draw()});draw()}})()"""


def size(count: float) -> str:
    """Nothing where it depends on a size of the call."""
    if math.isnan(count):
        return ""
    if count < 1000:
        return f"{count:.0f} B"
    units, count = iter("KMGT"), count / 1000
    unit = next(units)
    while count >= 999.5 and (larger := next(units, "")):
        unit, count = larger, count / 1000
    return f"{count:.{2 if count < 9.995 else 1 if count < 99.95 else 0}f} {unit}B"


class _Drawing:
    def __init__(self, graph: Graph, opened: set[tuple[str, ...]], is_live: bool) -> None:
        self.graph, self.opened, self.is_live = graph, opened, is_live
        self.times = [node.ms or 0.0 for node in graph.nodes]
        self.total = sum(self.times)
        self.places: dict[int, tuple[float, float]] = {}
        """For each node the right end of what is seen of it: itself, or the outermost closed box that it is in."""
        data = json.dumps([graph.nodes, graph.edges])
        self.id = "lm" + hashlib.sha256(data.encode()).hexdigest()[:12]

    def write(self) -> str:
        body, y = [], float(_GAP)
        for entry in self.graph.root.entries:
            text, height = self._entry(entry, 0, y, _WIDTH, 0, y)
            body.append(text)
            y += height + _GAP
        height, width = y + _GAP, _WIDTH + _MOST_ARC + _LABEL
        marker = (f"<defs><marker id='{self.id}-m' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='6' markerHeight='6' orient='auto'>"
                  "<path d='M0 0L8 4L0 8z' fill='#8a8a8a'/></marker></defs>")
        return (f"<svg xmlns='http://www.w3.org/2000/svg' class='lm' id='{self.id}' width='{width}' height='{height:g}' "
                f"viewBox='0 0 {width} {height:g}' role='img'><title>{html.escape(self.graph.head())}</title><style>{_STYLE}</style>"
                f"{marker}{''.join(body)}<g class='e'>{self._edges()}</g>{self._data() if self.is_live else ''}</svg>")

    def _data(self) -> str:
        """What the script draws edges by. In a script no text may be read as markup."""
        text = json.dumps({"sizes": [_WIDTH, _ROW, _GAP, _PAD, _MOST_ARC, _LABEL],
                           "edges": [[e.source, e.target, None if math.isnan(e.bytes) else e.bytes] for e in self.graph.edges]}, separators=(",", ":"))
        return f"<script type='application/json'>{text.replace('<', chr(92) + 'u003c')}</script>"

    def _entry(self, entry: Box | int, x: float, y: float, width: float, left: float, top: float) -> tuple[str, float]:
        """A node or box at a place in the box around it; and where that is on the whole. Also its height."""
        if isinstance(entry, int):
            node = self.graph.nodes[entry]
            self.places.setdefault(entry, (left + width, top + _ROW / 2))
            kind = "i end" if node.kind in ENDS else "i"
            return (f"<g class='{kind}' data-n='{entry}' transform='translate({x:g},{y:g})'><rect width='{width:g}' height='{_ROW}'/>"
                    + self._row(node.label, self.times[entry], width, node.kernel if node.kernel != node.kind else "", 8)
                    + f"<title>{html.escape(_tip(node))}</title></g>"), _ROW
        is_open, nodes = entry.path in self.opened, entry.nodes()
        if not is_open:
            for node in nodes:
                self.places.setdefault(node, (left + width, top + _ROW / 2))
        inside, height = [], float(_ROW)
        for inner in entry.entries if is_open or self.is_live else []:
            text, took = self._entry(inner, _PAD, height, width - 2 * _PAD, left + _PAD, top + height)
            inside.append(text)
            height += took + _GAP
        height = height - _GAP + _PAD if is_open else float(_ROW)
        count = "" if is_open and not self.is_live else f"{len(nodes)} nodes"
        return (f"<g class='i b{'' if is_open else ' c'}' transform='translate({x:g},{y:g})'><rect class='h' width='{width:g}' height='{height:g}'/>"
                f"<text class='h m' x='8' y='16'>{chr(0x2212) if is_open else '+'}</text>"
                + self._row(entry.name, sum(self.times[node] for node in nodes), width, count, 20, " class='h'")
                + f"<title>{html.escape('.'.join(entry.path))}</title>{''.join(inside)}</g>"), height

    def _row(self, label: str, time: float, width: float, note: str, x: int, attributes: str = "") -> str:
        """What a row says: the name, a note, and the time, with a bar of its share."""
        right = f"{time:.4f} ms" if time else ""
        bar = 0.25 * width * time / self.total if self.total else 0.0
        text = "" if bar < 0.5 else f"<rect class='t' x='{0.72 * width:.1f}' y='4' width='{bar:.1f}' height='{_ROW - 8}'/>"
        most = int((0.72 * width - x - 8) / _LETTER) - (len(note) + 2 if note else 0)
        if len(label) > most:
            label = label[:max(most - 1, 1)] + "\u2026"
        text += f"<text{attributes} x='{x}' y='16'>{html.escape(label)}</text>"
        if note:
            text += f"<text class='k' x='{0.72 * width - 6:.1f}' y='16' text-anchor='end'>{html.escape(note)}</text>"
        if right:
            text += f"<text class='k' x='{width - 6:g}' y='16' text-anchor='end'>{right}</text>"
        return text

    def _edges(self) -> str:
        """Those between what is seen, each with all bytes from one to the other."""
        sums: dict[tuple[tuple[float, float], tuple[float, float]], float] = {}
        for edge in self.graph.edges:
            ends = self.places[edge.source], self.places[edge.target]
            if ends[0] == ends[1]:
                continue
            sums[ends] = sums.get(ends, 0.0) + edge.bytes
        text = []
        for ((x, y), (u, v)), count in sums.items():
            far = _WIDTH + min(_MOST_ARC, 12 + 0.25 * abs(v - y))
            text.append(f"<g><path d='M{x:g} {y + 4:g}C{far:g} {y + 4:g} {far:g} {v - 4:g} {u:g} {v - 4:g}' marker-end='url(#{self.id}-m)'/>"
                        f"<text x='{0.75 * far + 0.125 * (x + u) + 4:.1f}' y='{(y + v) / 2 + 4:g}'>{size(count)}</text></g>")
        return "".join(text)


def _tip(node: Node) -> str:
    return "\n".join([node.name] + ([f"reads {', '.join(node.weights)}"] if node.weights else []))


def _quote(text: str) -> str:
    """A string of Graphviz's language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def dot(graph: Graph) -> str:
    lines = ["digraph program {", '  graph [fontname="sans-serif", style=rounded, color=gray];',
             '  node [shape=box, style=rounded, fontname="sans-serif"];', '  edge [fontname="sans-serif", fontsize=10];']
    count = 0

    def add(box: Box, indent: str) -> None:
        nonlocal count
        for entry in box.entries:
            if isinstance(entry, int):
                node = graph.nodes[entry]
                label = "\n".join(filter(None, [node.label, node.kernel if node.kernel != node.kind else "",
                                                f"{node.ms:.4f} ms" if node.ms is not None else ""]))
                shape = ", shape=ellipse" if node.kind in ENDS else ""
                lines.append(f"{indent}n{entry} [label={_quote(label)}{shape}, tooltip={_quote(_tip(node))}];")
                continue
            lines.append(f"{indent}subgraph cluster_{count} {{")
            count += 1
            lines.append(f"{indent}  label={_quote(entry.name)};")
            add(entry, indent + "  ")
            lines.append(f"{indent}}}")

    add(graph.root, "  ")
    lines += [f"  n{e.source} -> n{e.target} [label={_quote(size(e.bytes))}];" for e in graph.edges]
    return "\n".join([*lines, "}", ""])


def svg(graph: Graph, opened: set[tuple[str, ...]]) -> str:
    """The drawing alone, without what is in closed boxes."""
    return _Drawing(graph, opened, is_live=False).write()


def part(graph: Graph, opened: set[tuple[str, ...]]) -> str:
    """The drawing with a script that opens and closes boxes; without scripts it stays as it is."""
    drawing = _Drawing(graph, opened, is_live=True)
    text = drawing.write()
    buttons = ""
    if graph.root.boxes():
        buttons = "".join(f" <button data-of='{drawing.id}' data-close='{close}'>{what}</button>"
                          for close, what in ((0, "open all"), (1, "close all")))
    return f"<p>{html.escape(graph.head())}.{buttons}</p>{text}<script>{_SCRIPT}</script>"


def page(graph: Graph, opened: set[tuple[str, ...]]) -> str:
    return (f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Luminal: the program</title>"
            f"<style>{_PAGE}</style></head><body><h1>The program</h1><p>{_LEGEND}</p>{part(graph, opened)}</body></html>\n")
