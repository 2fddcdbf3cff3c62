import { sign } from '../../receiver/authentication/signature.ts';
import type { ProviderTesting } from '../../receiver/provider/provider.ts';

/** Plays Slack (https://docs.slack.dev/authentication/verifying-requests-from-slack). */
export const slackTesting: ProviderTesting = {
  createEvent: ({ id, type, createdAtMs, data = { user: 'U0SAMPLE' } }) => ({
    team_id: 'T0SAMPLE',
    api_app_id: 'A0SAMPLE',
    event: Object.assign({}, data, { type }),
    type: 'event_callback',
    event_id: id,
    event_time: Math.floor(createdAtMs / 1_000),
  }),
  sign: ({ rawBody, key, signedAtMs }) => {
    const time = String(Math.floor(signedAtMs / 1_000));
    return {
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${sign(Buffer.concat([Buffer.from(`v0:${time}:`), rawBody]), key)}`,
    };
  },
};
