import { expect, test } from 'vitest';
import { acceptEvents, eventOf, moduleOf, writeEvents } from './accepting.ts';
import { letter } from './letters.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

test('the check counts a thousand types one by one, and all further ones together', async () => {
  const events = Array.from({ length: 1_005 }, (_, index) => eventOf(`evt_${index}`, { type: `t.${index}` }));
  const long = eventOf('evt_long', { type: `t.${'x'.repeat(5_000)}` });
  const { stdout } = await acceptEvents([long, ...events], ['--dry-run', '--json'], {
    handlers: ".on('transfer.*', () => {})",
  });
  const { types } = JSON.parse(stdout);
  expect(types).toHaveLength(1_001);
  expect(types[0]).toMatchObject({ type: '(further types)', ignored: 6 });
  const lengths = types.map(({ type }: { readonly type: string }) => type.length);
  expect(Math.max(...lengths)).toBe(201);
});

test('dead letters that were too old are listed, because they are replayed by their ids only', async () => {
  const old = letter('evt_1', { reason: 'event_too_old' });
  const { file: receiver } = await writeModule(moduleOf({ options: 'deadLetters' }), [old]);
  const file = writeEvents([eventOf('evt_1'), eventOf('evt_2')]);
  const ended = await posthorn(['events', 'accept', file, '--receiver', receiver, '--yes']);
  expect(ended.stdout).toContain('\n1 processed, 1 parked before\n');
  expect(ended.stdout).toContain(`event_too_old: ${old.message}`);
  expect(ended.stdout.split('\n').at(-2)).toBe(
    `the parked: posthorn dead-letters list --reason event_too_old --receiver ${receiver}`,
  );
});

test('a file may begin with empty lines', async () => {
  const ended = await acceptEvents(['\n'.repeat(2_000), eventOf('evt_1')], ['--dry-run', '--json']);
  expect(jsonLines(ended)).toMatchObject([{ wouldRun: 1, unreadable: 0 }]);
});

test('events that the store did not record before it was away may run again, and are counted', async () => {
  // The store comes back in the end, because the command waits for its last completions.
  const store = `(() => {
      const memory = createMemoryStore();
      const fail = () => { throw new Error('away'); };
      let complete = fail;
      const claim = (request) => {
        if (request.id !== 'evt_2') return memory.claim(request);
        complete = memory.complete;
        return fail();
      };
      return { ...memory, claim, complete: (request) => complete(request), commandTimeoutMs: 50 };
    })()`;
  const ended = await acceptEvents([eventOf('evt_1'), eventOf('evt_2')], ['--yes'], { store });
  expect(ended.code).toBe(3);
  expect(ended.stdout).toContain('\n1 processed, 1 left\n');
  expect(ended.stderr).toContain('the store may not have recorded that 1 of these were handled');
});
