import { SignatureError, UnavailableError } from '../errors.ts';
import type { HeaderValues } from '../request/headers.ts';
import { SentHeaders } from '../request/single-headers.ts';
import { isInstance, messageOf } from '../values/foreign-values.ts';
import { ofAccount } from './account.ts';
import { type Key, readKeys } from './key.ts';
import type { CustomSignature, SentSignature, SignatureCheck, SigningKeySet } from './signature-check.ts';
import { createKeySource, type ImportKeys, type SigningKeys } from './signing-keys.ts';

/** Creates the check for a signature that a function of the application verifies. */
export function createCustomCheck(signature: CustomSignature, signingKey: SigningKeys): SignatureCheck {
  const importKeys: ImportKeys<SigningKeySet> = (keys, name, account) => {
    const list = readKeys(keys, name);
    return { verify: (rawBody, sent) => findKey(signature, list, { account, rawBody, sent }) };
  };
  return {
    keys: createKeySource(signingKey, importKeys),
    readHead: toSent,
    // Nothing shows whether a request is signed, and a stranger must not cause a report of a wrong path.
    isSent: () => false,
  };
}

function toSent(values: HeaderValues): SentSignature {
  const headers = new SentHeaders(values);
  return { headers, signatures: [], signedAtMs: undefined, toleranceMs: 0, content: undefined };
}

interface SignedRequest {
  readonly account: string | undefined;
  readonly rawBody: Uint8Array;
  readonly sent: SentSignature;
}

async function findKey(
  signature: CustomSignature,
  keys: readonly Key[],
  { account, rawBody, sent: { headers } }: SignedRequest,
): Promise<number> {
  for (const [index, key] of keys.entries()) {
    const isFound = await isSigned(() => signature.verify({ rawBody, headers, key }));
    // The function has seen the beginning of such a header only.
    if (headers.isTooLong)
      throw new SignatureError('signature_malformed', 'a header that is read is too long');
    if (isFound) return index;
  }
  throw new SignatureError(
    'signature_mismatch',
    `verify of the provider found no key${ofAccount(account)} that signed the request`,
  );
}

async function isSigned(verify: () => unknown): Promise<boolean> {
  try {
    return (await verify()) === true;
  } catch (cause) {
    if (isInstance(cause, SignatureError)) throw cause;
    const message = `verify of the provider failed: ${messageOf(cause)}`;
    throw new UnavailableError('keys_unavailable', message, { cause });
  }
}
