import { sign } from '../../receiver/authentication/signature.ts';
import type { ProviderTesting } from '../../receiver/provider/provider.ts';

/** Plays the service, which signs the body alone (interface, "Webhook event"). */
export function testingOf(signatureHeader: string): ProviderTesting {
  return {
    createEvent: ({ id, type, createdAtMs, data = { id: 'sample', amount: 1250, tags: {} } }) => {
      return { id, type, created_at: new Date(createdAtMs).toISOString(), data };
    },
    sign: ({ rawBody, key }) => ({ [signatureHeader]: sign(rawBody, key) }),
  };
}
