import type { Key } from '../receiver/authentication/key.ts';
import { findKeyOddities } from '../receiver/authentication/key-oddities.ts';
import { verifySignature } from '../receiver/authentication/signature.ts';
import { formOf, isSignature } from '../receiver/authentication/signature-form.ts';

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
export function diagnose(body: Uint8Array, signature: string, key: string): Diagnosis {
  if (verifySignature(body, signature, key)) return { verified: true, hints: [] };
  for (const givenSignature of signatures(signature)) {
    for (const givenKey of keys(key)) {
      const found = bodies(body).find(({ value }) =>
        verifySignature(value, givenSignature.value, givenKey.value),
      );
      if (found === undefined) continue;
      return { verified: false, hints: [givenSignature, givenKey, found].flatMap(({ hint }) => hint ?? []) };
    }
  }
  return { verified: false, hints: unexplained(signature) };
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
