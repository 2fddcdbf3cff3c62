import { bench, group, do_not_optimize as keep } from 'mitata';
import { checkAge, parseEvent } from '../../dist/src/receiver/events/event.js';
import { createTemplate } from '../load/event-template.js';

export const title = 'envelope';

export function register() {
  for (const bytes of [700, 10_000, 100_000]) {
    const { body } = createTemplate(bytes);
    group(`envelope ${bytes} B`, () => {
      bench('JSON.parse of the text', () => keep(JSON.parse(body.toString())));
      bench('parseEvent', () => keep(parseEvent(body)));
    });
  }
  const event = parseEvent(createTemplate(700).body);
  group('age', () => {
    bench('checkAge', () => checkAge(event, Date.now(), 86_400_000));
  });
}
