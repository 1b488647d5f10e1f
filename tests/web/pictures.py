"""Pictures of pages as small files: a page has few colours, so that a palette holds them."""

from __future__ import annotations

import base64
import zlib
from struct import pack
from typing import Any

import numpy as np
from playwright.sync_api import Page

Numbers = np.ndarray[Any, Any]
COLOURS = 256
PIXELS = """async (png) => {
  const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def small(page: Page, png: bytes) -> bytes:
    """The same picture with a palette of the colours that it has most of; the page, any, reads it."""
    width, height, text = page.evaluate(PIXELS, base64.b64encode(png).decode())
    red, green, blue, _ = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, 4).T.astype(np.int32)
    colours, where, counts = np.unique(red << 16 | green << 8 | blue, return_inverse=True, return_counts=True)
    every = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    palette = every[_chosen(colours, counts)]
    nearest = np.argmin(((every[:, None] - palette[None]) ** 2).sum(axis=2), axis=1).astype(np.uint8)
    rows = np.zeros((height, width + 1), np.uint8)  # each begins with a 0: as it is
    rows[:, 1:] = nearest[where].reshape(height, width)
    head = pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", palette.astype(np.uint8).tobytes()), (b"IDAT", zlib.compress(rows, 9)))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in (*chunks, (b"IEND", b"")))


def _chosen(colours: Numbers, counts: Numbers) -> Numbers:
    """Places of the colours to keep: of those that are much alike the most frequent, then the most frequent others."""
    order = np.argsort(-counts, kind="stable")
    firsts = np.sort(np.unique(colours[order] >> 4 & 0x0F0F0F, return_index=True)[1])
    others = np.setdiff1d(np.arange(len(order)), firsts)
    return order[np.concatenate([firsts, others])[:COLOURS]]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))
