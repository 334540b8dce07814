// Pictures of pages as small files: 256 colors, those that are used most and none that is left out far from all of them.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLORS = 256
/** Square of it; colors that are nearer to each other look alike. */
const FARTHEST_APART = 400

/** @param png of 8 bits a channel, without interlace, as browsers write it */
export function indexedPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png)
  const counts = new Map<number, number>()
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1)
  const palette = chosen([...counts].toSorted((a, b) => b[1] - a[1]).map(([color]) => color))
  const places = new Map(palette.map((color, place) => [color, place]))
  for (const color of counts.keys()) if (!places.has(color)) places.set(color, nearest(color, palette))
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(pixels[from++]!)!
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function decode(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const parts: Buffer[] = []
  let head: Buffer | undefined
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at)
    const name = png.toString('latin1', at + 4, at + 8)
    const data = png.subarray(at + 8, at + 8 + length)
    if (name === 'IHDR') head = data
    if (name === 'IDAT') parts.push(data)
    at += length + 12
  }
  const [width, height] = [head!.readUInt32BE(0), head!.readUInt32BE(4)]
  const [depth, kind, , , interlace] = head!.subarray(8)
  if (depth !== 8 || (kind !== 2 && kind !== 6) || interlace !== 0) throw new Error(`a PNG of kind ${depth}/${kind}`)
  const size = kind === 6 ? 4 : 3
  const bytes = unfiltered(inflateSync(Buffer.concat(parts)), width * size, height, size)
  const pixels = new Uint32Array(width * height)
  for (let i = 0; i < pixels.length; i++) pixels[i] = bytes.readUIntBE(i * size, 3)
  return { width, height, pixels }
}

/** Each line says how its bytes were made from those to the left and above. */
function unfiltered(from: Buffer, stride: number, height: number, size: number): Buffer {
  const bytes = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = from[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < size ? 0 : bytes[at - size]!
      const above = y === 0 ? 0 : bytes[at - stride]!
      const corner = x < size || y === 0 ? 0 : bytes[at - stride - size]!
      const guess =
        filter === 1
          ? left
          : filter === 2
            ? above
            : filter === 3
              ? (left + above) >> 1
              : filter === 4
                ? closest(left + above - corner, left, above, corner)
                : 0
      bytes[at] = from[y * (stride + 1) + 1 + x]! + guess
    }
  }
  return bytes
}

function closest(aim: number, left: number, above: number, corner: number): number {
  const [toLeft, toAbove, toCorner] = [Math.abs(aim - left), Math.abs(aim - above), Math.abs(aim - corner)]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

/** A rare color that is like no other, as of a mark that warns, goes before a frequent one that others stand for. */
function chosen(byUse: number[]): number[] {
  for (let apart = FARTHEST_APART; ; apart = Math.floor(apart * 0.8)) {
    const palette: number[] = []
    for (const color of byUse) {
      if (palette.every((other) => away(color, other) >= apart)) palette.push(color)
      if (palette.length === COLORS) return palette
    }
    if (apart === 0) return palette
  }
}

/** Square of the distance of two colors. */
const away = (one: number, other: number) =>
  (((one >> 16) & 255) - ((other >> 16) & 255)) ** 2 +
  (((one >> 8) & 255) - ((other >> 8) & 255)) ** 2 +
  ((one & 255) - (other & 255)) ** 2

function nearest(color: number, palette: number[]): number {
  let best = 0
  for (let place = 1; place < palette.length; place++) {
    if (away(palette[place]!, color) < away(palette[best]!, color)) best = place
  }
  return best
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(named, 4)
  framed.writeUInt32BE(crc32(named) >>> 0, named.length + 4)
  return framed
}
