import { createReceiver } from 'posthorn';
import { observeWithLogger } from 'posthorn/logger';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createEvent } from 'posthorn/testing';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { deliveryOf } from '../support/delivery-of.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';
import { spanOf, useOpenTelemetry } from './opentelemetry-sdk.ts';

const { printed } = usePrintedErrors();

test.each(['partners', undefined])(
  'the name %s of a receiver is in all that its observers write',
  async (name) => {
    const { spans, points } = useOpenTelemetry();
    const register = new Registry();
    const logged: unknown[] = [];
    const write = (fields: { receiver?: unknown }): void => void logged.push(fields.receiver);
    const receiver = createReceiver({ signingKey: KEY, ...(name && { name }) }).on('*', throwing('no'));
    expect(receiver.name).toBe(name);
    observeWithPrometheus(receiver, { register });
    observeWithOpenTelemetry(receiver);
    await receiver.receive(deliveryOf(createEvent('dispute.won')));
    const start = name === undefined ? 'posthorn: ' : 'posthorn: [partners] ';
    expect(printed()).toEqual(
      [`dead_letters_missing`, 'failed 500'].map((text) => expect.stringContaining(start + text)),
    );
    expect(spanOf({ spans }, 'process dispute.won').attributes['posthorn.receiver']).toBe(name);

    observeWithLogger(receiver, { info: write, warn: write, error: write });
    const report = await receiver.dispatch({}, { attempt: 1, final: true });
    expect([report.receiver, ...logged]).toEqual([name, name]);
    const measured = await points();
    expect(new Set(measured.map(({ attributes }) => attributes['posthorn.receiver']))).toEqual(
      new Set([name]),
    );
    const series = (await register.metrics()).split('\n').filter((line) => line.startsWith('posthorn_'));
    expect(series.length).toBeGreaterThan(50);
    expect(series.filter((line) => line.includes('receiver="partners"'))).toHaveLength(
      name === undefined ? 0 : series.length,
    );
    expect(measured.some(({ attributes }) => 'posthorn.receiver' in attributes)).toBe(name !== undefined);
  },
);
