import { propertyOf, typeNameOf } from '../receiver/values/foreign-values.ts';
import { ANSWER_MS, callInTime } from './call-in-time.ts';
import type { EventContent, OperatorIdentity, OperatorOptions } from './options.ts';
import { Problem } from './problem.ts';

/** The parts of a dead letter, or of an entry of a journal, that have content. */
interface Stored {
  readonly type?: string | undefined;
  readonly rawBody?: Uint8Array | undefined;
  readonly headers?: EventContent['headers'] | undefined;
}

/** The members of an answer that show the content of an event. */
type Shown = Partial<Pick<EventContent, 'body' | 'headers'>>;

/** Shows the content of an event as far as the operator may see it. */
export async function shownContent(
  id: string,
  { type, rawBody, headers = {} }: Stored,
  { bodies }: OperatorIdentity,
  mask: OperatorOptions['mask'],
): Promise<Shown> {
  if (bodies !== true || rawBody === undefined) return {};
  const content = { body: new TextDecoder('utf-8', { ignoreBOM: true }).decode(rawBody), headers };
  return mask === undefined ? content : masked(mask, { id, type, ...content });
}

async function masked(mask: NonNullable<OperatorOptions['mask']>, content: EventContent): Promise<Shown> {
  let result: unknown;
  try {
    result = await callInTime(() => mask(content), ANSWER_MS);
  } catch (cause) {
    // The message may quote the event, as that of JSON.parse does.
    throw new Problem('mask_failed', 'the option mask failed: the log of the process says why', { cause });
  }
  const body = propertyOf(result, 'body');
  const headers = propertyOf(result, 'headers');
  if (typeof body === 'string' && areHeaders(headers)) return { body, headers };
  throw new Problem(
    'mask_failed',
    `mask must return { body, headers } with a text and an object of lists of texts, got ${typeNameOf(result)}`,
  );
}

function areHeaders(headers: unknown): headers is EventContent['headers'] {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return false;
  return Object.values(headers).every(
    (values) => Array.isArray(values) && values.every((value) => typeof value === 'string'),
  );
}
