import { sign } from '../../receiver/authentication/signature.ts';
import type { ProviderTesting } from '../../receiver/provider/provider.ts';
import { requirePlayedEvent } from '../played-event.ts';

const SAMPLE = {
  repository: { id: 1, name: 'sample', full_name: 'octo/sample' },
  sender: { id: 2, login: 'octocat' },
};

/** Plays GitHub (https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers). */
export const githubTesting: ProviderTesting = {
  createEvent: ({ type, data }) => {
    const [, action] = splitType(type);
    const payload = typeof data === 'object' && data !== null ? data : SAMPLE;
    return action === undefined ? { ...payload } : { ...payload, action };
  },
  sign: ({ rawBody, key, event }) => {
    const { id, type } = requirePlayedEvent(event, 'github');
    const [name] = splitType(type);
    return {
      'x-github-event': name,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${sign(rawBody, key)}`,
    };
  },
};

/** Returns the name of an event, and its action if it has one. */
function splitType(type: string): readonly [name: string, action?: string] {
  const dot = type.indexOf('.');
  return dot === -1 ? [type] : [type.slice(0, dot), type.slice(dot + 1)];
}
