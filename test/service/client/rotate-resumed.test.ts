import { describe, expect, test } from 'vitest';
import { json } from './literal-service.ts';
import { clientOf, failureOf } from './secrets.ts';
import { type Break, WebhookService } from './webhook-service.ts';

/** A rotation, as a program that stores what it is given and may be started again. */
class Program {
  readonly service: WebhookService = new WebhookService();
  /** The keys that every receiver accepts. */
  readonly accepted: Set<string> = new Set(['the-old-key']);
  stored: { readonly id: string; readonly signingKey: string } | undefined;
  #url = '';

  async open(): Promise<this> {
    this.#url = await this.service.open();
    this.service.add('OLD', 'the-old-key');
    return this;
  }

  rotate({ withStored, signal }: { withStored: boolean; signal?: AbortSignal }) {
    return clientOf(this.#url).webhooks.rotate(
      'OLD',
      {
        onSigningKey: (signingKey, { id }) => {
          this.accepted.add(signingKey);
          this.stored = { id, signingKey };
        },
        resume: withStored ? this.stored : undefined,
      },
      { signal },
    );
  }

  /** One webhook sends, with a key that is accepted, and at no time did none send. */
  expectDone(result: Awaited<ReturnType<Program['rotate']>>): void {
    const { enabled, kept, history } = this.service;
    expect(enabled).toEqual([result.webhook.id]);
    expect(enabled).not.toContain('OLD');
    expect(result.signingKey).toBe(kept.get(result.webhook.id)?.key);
    expect(this.accepted).toContain(result.signingKey);
    expect(result).toMatchObject({ webhook: { enabled: true }, previous: { id: 'OLD', enabled: false } });
    expect(history.filter((ids) => ids.length === 0)).toEqual([]);
  }
}

const steps = ['GET old', 'GET list', 'POST new', 'PUT new disabled', 'PUT new enabled', 'PUT old disabled'];
const breaks = steps.flatMap((step, index) =>
  [false, true].map((carriedOut) => ({ step, at: index + 1, carriedOut })),
);

describe.each(breaks)('broken off at $step (carried out: $carriedOut)', ({ at, carriedOut }) => {
  async function broken(): Promise<Program> {
    const program = await new Program().open();
    const point: Break = { at, carriedOut };
    program.service.breakAt(point);
    await failureOf(() => program.rotate({ withStored: false }));
    program.service.breakAt(undefined);
    expect(program.service.enabled.length).toBeGreaterThan(0);
    expect(program.stored === undefined).toBe(at < 5);
    return program;
  }

  if (at >= 5) {
    test('goes on with the key that was stored', async () => {
      const program = await broken();
      const { stored } = program;
      const before = program.service.sent.length;
      const result = await program.rotate({ withStored: true });
      program.expectDone(result);
      expect(result).toMatchObject({ webhook: { id: stored?.id }, signingKey: stored?.signingKey });
      expect(program.service.sent.slice(before)).toEqual([
        'GET /OLD',
        'GET /NEW1',
        ...(at === 5 && !carriedOut ? ['PUT /NEW1 {"enabled":true}'] : []),
        ...(at === 6 && carriedOut ? [] : ['PUT /OLD {"enabled":false}']),
      ]);
    });

    test('and may be resumed once more, when all is done', async () => {
      const program = await broken();
      await program.rotate({ withStored: true });
      program.expectDone(await program.rotate({ withStored: true }));
    });
  }

  if (at === 6 && carriedOut) {
    test('and without the key says that the old one is disabled already', async () => {
      const program = await broken();
      const error = await failureOf(() => program.rotate({ withStored: false }));
      expect(error).toHaveProperty('code', 'webhook_disabled');
      expect(program.service.enabled).toEqual(['NEW1']);
    });
  } else {
    test('disables the orphan and starts over without the key', async () => {
      const program = await broken();
      const before = program.service.sent.length;
      const orphans = program.service.enabled.filter((id) => id !== 'OLD');
      const result = await program.rotate({ withStored: false });
      program.expectDone(result);
      const [first, second, ...rest] = program.service.sent.slice(before);
      expect([first, second]).toEqual(['GET /OLD', 'GET ?limit=100&offset=0']);
      expect(rest.slice(0, orphans.length)).toEqual(orphans.map((id) => `PUT /${id} {"enabled":false}`));
      expect(rest[orphans.length]).toMatch(/^POST /);
    });
  }
});

describe('a second webhook that may be there, or may be sending, is not left so in silence', () => {
  /** Breaks off for so many requests only. */
  async function interrupted(point: Break, upTo: number): Promise<{ program: Program; error: unknown }> {
    const program = await new Program().open();
    program.service.breakAt(point, upTo);
    return { program, error: await failureOf(() => program.rotate({ withStored: false })) };
  }

  test('created, and the answer does not come: it is looked for and disabled', async () => {
    const { program, error } = await interrupted({ at: 3, carriedOut: true, reply: 'reset' }, 3);
    expect(error).toHaveProperty('code', 'service_unreachable');
    expect(program.service.enabled).toEqual(['OLD']);
    expect(program.service.sent.slice(2).map((line) => line.slice(0, 27))).toEqual([
      'POST {"url":"https://exampl',
      'GET ?limit=100&offset=0',
      'PUT /NEW1 {"enabled":false}',
    ]);
  });

  test('created, and the answer cannot be read: it is looked for and disabled', async () => {
    const { program, error } = await interrupted({ at: 3, carriedOut: true, reply: json('{}', 201) }, 3);
    expect(error).toMatchObject({ code: 'answer_invalid', status: 201 });
    expect(program.service.enabled).toEqual(['OLD']);
  });

  test('refused: nothing is there to look for', async () => {
    const { program, error } = await interrupted({ at: 3, carriedOut: false }, 3);
    expect(error).toMatchObject({ status: 400 });
    expect(program.service.sent).toHaveLength(3);
  });

  test('created, and cannot be disabled at first: it is tried again', async () => {
    const { program, error } = await interrupted({ at: 4, carriedOut: false }, 4);
    expect(error).toMatchObject({ code: 'webhook_left_enabled', message: expect.stringContaining('"NEW1"') });
    expect(program.service.enabled).toEqual(['OLD']);
    expect(program.stored).toBeUndefined();
  });

  test('created, and cannot be disabled at all: the error says which one is left', async () => {
    const { program, error } = await interrupted({ at: 4, carriedOut: false }, Number.POSITIVE_INFINITY);
    expect(error).toMatchObject({
      code: 'webhook_left_enabled',
      message: expect.stringContaining('webhook "NEW1" was created and could not be disabled'),
      cause: { status: 400 },
    });
    expect(program.service.enabled).toEqual(['OLD', 'NEW1']);
    expect(program.stored).toBeUndefined();
  });

  test.each(['POST', 'PUT'])('the caller loses interest at %s: disabled all the same', async (method) => {
    const program = await new Program().open();
    const controller = new AbortController();
    program.service.onRequest((line) => {
      if (line.startsWith(method)) controller.abort();
    });
    const error = await failureOf(() => program.rotate({ withStored: false, signal: controller.signal }));
    expect(error).toBe(controller.signal.reason);
    expect(program.service.enabled).toEqual(['OLD']);
    expect(program.stored).toBeUndefined();
  });
});
