import { bench, group, do_not_optimize as keep } from 'mitata';
import { bankingService } from '../../dist/src/providers/index.js';
import { ageOf, checkAge } from '../../dist/src/receiver/events/age.js';
import { createTemplate } from '../load/event-template.js';

const { readEvent } = bankingService();
/**
 * The banking service has its type and id in the body.
 *
 * @type {Map<string, string>}
 */
const noHeaders = new Map();

export const title = 'envelope';

export function register() {
  for (const bytes of [700, 10_000, 100_000]) {
    const { body } = createTemplate(bytes);
    group(`envelope ${bytes} B`, () => {
      bench('JSON.parse of the text', () => keep(JSON.parse(body.toString())));
      bench('readEvent', () => keep(readEvent({ rawBody: body, headers: noHeaders })));
    });
  }
  const event = readEvent({ rawBody: createTemplate(700).body, headers: noHeaders });
  group('age', () => {
    bench('checkAge', () => checkAge(event, undefined, ageOf(event.createdAtMs, Date.now()), 86_400_000));
  });
}
