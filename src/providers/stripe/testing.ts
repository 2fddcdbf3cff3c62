import { sign } from '../../receiver/authentication/signature.ts';
import type { ProviderTesting } from '../../receiver/provider/provider.ts';

/** Plays Stripe (https://docs.stripe.com/webhooks#verify-manually). */
export const stripeTesting: ProviderTesting = {
  createEvent: ({ id, type, createdAtMs, data = { id: 'ob_sample', object: type.split('.')[0] } }) => {
    const created = Math.floor(createdAtMs / 1_000);
    return { id, object: 'event', type, created, livemode: false, data: { object: data } };
  },
  sign: ({ rawBody, key, signedAtMs }) => {
    const time = Math.floor(signedAtMs / 1_000);
    return {
      'stripe-signature': `t=${time},v1=${sign(Buffer.concat([Buffer.from(`${time}.`), rawBody]), key)}`,
    };
  },
};
