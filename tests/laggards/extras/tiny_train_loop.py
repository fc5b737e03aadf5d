"""Extra: right answers that are needlessly slow, two for every speed bar."""

from tools.planted import Laggard

UNSEEN = "the launches are counted, and the time between them is not"
laggards: list[Laggard] = [
    # Eight times the launches, and each of them takes as long from Python, however small it is.
    Laggard(
        "each sequence of the batch alone, and their losses added up",
        swap={
            "    loss = next_token_loss(tokens, weights)": (
                "    parts = [next_token_loss(one, weights) for one in tokens.split(1)]\n"
                "    loss = sum(parts) * (1.0 / len(parts))"
            )
        },
        unseen=UNSEEN,
    ),
    # The products of each head, of each sequence, apart: 32 launches for one.
    Laggard(
        "attention one head and one sequence at a time",
        swap={
            "found = flash_attention(*(one.transpose(1, 2) for one in (q, k, v)), d**-0.5, True)": (
                "q, k, v = (one.transpose(1, 2) for one in (q, k, v))\n"
                "    heads = [(i, j) for i in range(b) for j in range(q.shape[1])]\n"
                "    parts = [one.split(1, 1) for o in (q, k, v) for one in o.split(1)]\n"
                "    found = [\n"
                "        flash_attention(*(parts[which * b + i][j] for which in range(3)), d**-0.5, True)\n"
                "        for i, j in heads\n"
                "    ]\n"
                "    found = torch.cat(found).view(q.shape)"
            )
        },
        unseen=UNSEEN,
    ),
]
