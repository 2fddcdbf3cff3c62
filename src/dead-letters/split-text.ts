/**
 * Splits a text into parts of at most `mostBytes` bytes in UTF-8, for a server whose records are limited;
 * returns none if it fits as it is.
 */
export function splitText(text: string, mostBytes: number): readonly string[] {
  if (Buffer.byteLength(text) <= mostBytes) return [];
  const bytes = Buffer.from(text);
  const parts: string[] = [];
  for (let begin = 0; begin < bytes.length; ) {
    const end = endOfPart(bytes, begin + mostBytes);
    parts.push(bytes.toString('utf8', begin, end));
    begin = end;
  }
  return parts;
}

/** A character whose bytes do not all fit begins the next part. */
function endOfPart(bytes: Buffer, latest: number): number {
  let end = latest;
  while (isInsideCharacter(bytes[end])) end -= 1;
  return Math.min(end, bytes.length);
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
