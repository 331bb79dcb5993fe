"""The least a client can do: a bare aiohttp loop that writes one line for each answer.

python bare_client.py QUESTIONS.csv OUT CONCURRENCY     (GOOGLE_GEMINI_BASE_URL)
"""

from __future__ import annotations

import asyncio
import csv
import json
import os
import sys
from pathlib import Path

import aiohttp

RULE = (
    "Answer only if you are > %s confident. A correct answer scores +1 point, a wrong answer loses %s points, and "
    "'IDK' scores 0. If you are not that confident, reply EXACTLY 'IDK'. Output only the final answer, nothing else."
)


async def main(questions: str, out: str, concurrency: int) -> None:
    """Ask every question at three thresholds."""
    with Path(questions).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    work = ((row, t) for row in rows for t in (0.5, 0.75, 0.9))
    url = os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/lean:generateContent"
    connector = aiohttp.TCPConnector(limit=concurrency)
    with Path(out).open("w", encoding="utf-8") as lines:
        async with aiohttp.ClientSession(connector=connector, headers={"x-goog-api-key": "k"}) as session:

            async def worker() -> None:
                for row, t in work:
                    prompt = f"{row['question']}\n\n{RULE % (t, round(t / (1 - t), 4))}"
                    body = {
                        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
                        "generationConfig": {"temperature": 0.0, "maxOutputTokens": 128, "seed": 1234},
                    }
                    async with session.post(url, json=body) as response:
                        reply = await response.json()
                    text = reply["candidates"][0]["content"]["parts"][0]["text"]
                    lines.write(json.dumps([row["id"], t, text]) + "\n")

            await asyncio.gather(*(worker() for _ in range(concurrency)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
