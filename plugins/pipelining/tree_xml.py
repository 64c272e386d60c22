"""Trees of a throughput as XML in the form of ForestColl's program (arXiv:2402.06787)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any


def tree_xml(record: Mapping[str, Any]) -> str:
    """Return the trees of a ``cchybrid-throughput/1`` object, from their roots to their leaves.

    ``nchunkspernode`` is the chunks of every message, ``nchunks`` those that a tree carries,
    ``index`` its number among the trees of its root. Trees of a reduction are written as those of a
    broadcast, which ForestColl reads backwards, too.
    """
    backwards = record["instance"]["collective"]["kind"] == "combine"
    lines = [f'<Algo nchunkspernode="{record["chunks"]}">']
    numbers: Counter[int] = Counter()
    for tree in record["trees"]:
        root = tree["root"]
        depth, sends = {root: 0}, []
        for path in tree["paths"]:
            nodes = path[::-1] if backwards else path
            depth[nodes[-1]] = depth[nodes[0]] + 1
            ends = f'src="{nodes[0]}" dst="{nodes[-1]}"'
            sends.append(f'    <send {ends} path="{",".join(map(str, nodes))}"/>')
        lines.append(
            f'  <tree root="{root}" index="{numbers[root]}" nchunks="{tree["chunks"]}" '
            f'height="{max(depth.values())}">'
        )
        lines += [*sends, "  </tree>"]
        numbers[root] += 1
    return "\n".join([*lines, "</Algo>"]) + "\n"
