import { messageOf } from '../receiver/values/foreign-values.ts';
import { Problem } from './problem.ts';

/** A thousand ids of a thousand characters. */
const MAX_BODY_BYTES = 1_048_576;

/** Reads the body of a request. */
export type ReadBody = () => Promise<Uint8Array | string>;

/** Reads the body of a deed as JSON. Throws a {@link Problem}. */
export async function readJsonBody({ headers }: Request, readBody: ReadBody): Promise<unknown> {
  // A form of another page cannot send this type without asking first (CORS).
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    throw new Problem('media_type_unsupported', 'send the body with Content-Type: application/json');
  const body = await readBody();
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem('request_invalid', `the body is not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Reads the body of a web Request. Throws a {@link Problem} for one that is too large, or was read. */
export async function readRequestBody(request: Request): Promise<Uint8Array> {
  if (request.bodyUsed) throw readBefore();
  return collect(request.body ?? []);
}

/** Throws a {@link Problem} for more than {@link MAX_BODY_BYTES}, and for a body that is cut short. */
export async function collect(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) break;
      collected.push(chunk);
    }
  } catch (cause) {
    throw new Problem('request_invalid', 'the body could not be read to its end', { cause });
  }
  if (length <= MAX_BODY_BYTES) return Buffer.concat(collected);
  throw new Problem('body_too_large', `the body may have ${MAX_BODY_BYTES} bytes: send fewer ids at once`);
}

/** The body was lost before it came to us. */
export function readBefore(): Problem {
  return new Problem('internal_error', 'the body was read before: hand over the request unread');
}
