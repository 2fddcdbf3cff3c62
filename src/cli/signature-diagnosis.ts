import type { Key } from '../receiver/authentication/key.ts';
import { findKeyOddities } from '../receiver/authentication/key-oddities.ts';
import { verifySignature } from '../receiver/authentication/signature.ts';
import type { SentSignature, SignatureCheck } from '../receiver/authentication/signature-check.ts';
import { formOf, isSignature } from '../receiver/authentication/signature-form.ts';
import { checkedFormOf } from '../receiver/provider/checked-provider.ts';
import type { Provider } from '../receiver/provider/provider.ts';
import type { HeaderValues } from '../receiver/request/headers.ts';
import type { Awaitable } from '../receiver/timing/awaitable.ts';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { createOtherSenders } from './named-providers.ts';

/** The result of checking a signature, and the likely mistake if it is wrong. */
export interface Diagnosis {
  readonly verified: boolean;
  /** Sentences; empty if the signature verifies. */
  readonly hints: readonly string[];
}

/** A value as it was given, or as a common mistake would have changed it. */
interface Variant<T> {
  readonly value: T;
  /** The mistake; absent for the given value. */
  readonly hint?: string;
}

/** Checks a signature. If it does not match, looks for the mistakes that would explain it. */
export async function diagnose(body: Uint8Array, signature: string, key: string): Promise<Diagnosis> {
  if (verifySignature(body, signature, key)) return { verified: true, hints: [] };
  for (const { value, hint } of signatures(signature)) {
    const mistakes = await findMistakes(body, key, (other, otherKey) =>
      verifySignature(other, value, otherKey),
    );
    if (mistakes !== undefined) return { verified: false, hints: [...(hint ? [hint] : []), ...mistakes] };
  }
  return { verified: false, hints: unexplained(signature) };
}

/** A request as it was captured. */
interface CapturedRequest {
  readonly body: Uint8Array;
  readonly headers: HeaderValues;
}

/** Checks the signature of a request, as a receiver of the provider does; its time may be long ago. */
export async function diagnoseRequest(
  { body, headers }: CapturedRequest,
  provider: Provider,
  key: string,
): Promise<Diagnosis> {
  const checkWith = checkedFormOf(provider).createSignatureCheck;
  const check = checkWith(key);
  try {
    const sent = check.readHead(headers);
    await verify(check, sent, body);
    return { verified: true, hints: timeHints(sent) };
  } catch (error) {
    const isSigned = async (otherBody: Uint8Array, otherKey: Key): Promise<boolean> => {
      const other = checkWith(otherKey);
      await verify(other, other.readHead(headers), otherBody);
      return true;
    };
    const mistakes = await findMistakes(body, key, (...parts) => isSigned(...parts).catch(() => false));
    const others = check.isSent(headers) ? [] : await otherSender(headers, provider);
    return { verified: false, hints: mistakes ?? [messageOf(error), ...others] };
  }
}

async function verify({ keys }: SignatureCheck, sent: SentSignature, body: Uint8Array): Promise<void> {
  const keySet = await keys(Number.POSITIVE_INFINITY, undefined);
  await keySet.verify(body, sent);
}

function timeHints({ signedAtMs, toleranceMs }: SentSignature): readonly string[] {
  if (signedAtMs === undefined || Math.abs(Date.now() - signedAtMs) <= toleranceMs) return [];
  return [
    `it was signed at ${new Date(signedAtMs).toISOString()}: a receiver refuses it now (signature_expired)`,
  ];
}

async function otherSender(headers: HeaderValues, provider: Provider): Promise<readonly string[]> {
  const advice = (await createOtherSenders(provider))(headers);
  return advice === undefined ? [] : [advice];
}

/** Returns the mistakes with which a body and a key fit the signature; undefined if none are known. */
async function findMistakes(
  body: Uint8Array,
  key: string,
  isSigned: (body: Uint8Array, key: Key) => Awaitable<boolean>,
): Promise<readonly string[] | undefined> {
  for (const givenKey of keys(key)) {
    for (const { value, hint } of bodies(body)) {
      if (await isSigned(Buffer.from(value), givenKey.value))
        return [givenKey.hint, hint].flatMap((each) => each ?? []);
    }
  }
  return undefined;
}

function unexplained(signature: string): readonly string[] {
  return [
    ...(isSignature(signature)
      ? []
      : [`the signature is malformed: it has ${formOf(signature)}, and must have 64 hexadecimal digits`]),
    'either the key belongs to another webhook, or the body is not the one that was signed',
  ];
}

function signatures(signature: string): Variant<string>[] {
  const variants: Variant<string>[] = [{ value: signature }];
  const bare = signature.trim().replace(/^sha256=/i, '');
  if (bare !== signature) {
    variants.push({
      value: bare,
      hint: 'the signature has other characters around its 64 hexadecimal digits: remove them',
    });
  }
  const bytes = Buffer.from(bare, 'base64');
  if (bytes.length === 32) {
    variants.push({
      value: bytes.toString('hex'),
      hint: 'the signature is in base64; the service sends hexadecimal',
    });
  }
  return variants;
}

function keys(key: string): Variant<Key>[] {
  const variants: Variant<Key>[] = [{ value: key }];
  for (const { description, bareKey } of findKeyOddities(key)) {
    if (bareKey !== '') variants.push({ value: bareKey, hint: `the key has ${description}: remove it` });
  }
  const trimmed = key.trim();
  if (/^([0-9a-f]{2})+$/i.test(trimmed)) {
    variants.push({
      value: Buffer.from(trimmed, 'hex'),
      hint:
        'the sender decoded the key from hexadecimal, and signed with the bytes; the service signs ' +
        'with the text of the key',
    });
  }
  const bytes = Buffer.from(trimmed, 'base64');
  if (bytes.length > 0) {
    variants.push({
      value: bytes,
      hint:
        'the sender decoded the key from base64, and signed with the bytes; the service signs with the ' +
        'text of the key',
    });
  }
  return variants;
}

function bodies(body: Uint8Array): Variant<Uint8Array | string>[] {
  // One character for each byte, so that only the intended bytes change.
  const text = Buffer.from(body).toString('latin1');
  const variants: Variant<string>[] = [
    {
      value: text.replace(/\r?\n$/, ''),
      hint: 'the body has a line end that was not signed: an editor or echo adds one',
    },
    { value: `${text}\n`, hint: 'the body has lost the line end that was signed' },
    {
      value: text.replaceAll('\r\n', '\n'),
      hint: 'the line ends of the body were changed to CR LF after it was signed',
    },
    {
      value: text.replace(/\r?\n/g, '\r\n'),
      hint: 'the line ends of the body were CR LF when it was signed',
    },
    {
      value: text.replace(/^\xef\xbb\xbf/, ''),
      hint: 'the body has a byte order mark that was not signed',
    },
  ];
  const changed = variants.filter(({ value }) => value !== text);
  return [
    { value: body },
    ...changed.map(({ value, hint }) => ({ value: Buffer.from(value, 'latin1'), ...(hint && { hint }) })),
    ...rewritten(body),
  ];
}

function rewritten(body: Uint8Array): Variant<string>[] {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return [];
  }
  const hint = 'the body was parsed and serialized again after it was signed: keep the bytes as they came';
  return [undefined, 2, 4].map((indentation) => ({
    value: JSON.stringify(value, undefined, indentation),
    hint,
  }));
}
