import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

const gzip = promisify(zlib.gzip);
const gunzip = promisify(zlib.gunzip);

/** The longest text of a dead letter. Without a limit, a few forged kilobytes could fill the memory. */
const MOST_BYTES = 256 * 1_048_576;

/** Compresses the text of a dead letter: DynamoDB charges each kilobyte. */
export async function compress(text: string): Promise<Buffer> {
  const length = Buffer.byteLength(text);
  if (length > MOST_BYTES)
    throw new Error(`the letter has ${length} bytes, and at most ${MOST_BYTES} can be read again`);
  return gzip(text);
}

/** Resolves with an empty text if the bytes are not those of {@link compress}. */
export async function decompress(bytes: Uint8Array): Promise<string> {
  try {
    return String(await gunzip(bytes, { maxOutputLength: MOST_BYTES }));
  } catch {
    return '';
  }
}
