import { trace } from '@opentelemetry/api';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { isFailed, useOpenTelemetry } from '../../observers/opentelemetry-sdk.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { book, openQueueAt, pollPromoting } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const DELIVERY = 'process transfer.succeeded';
const ENQUEUE = `${DELIVERY} > enqueue transfer.succeeded`;

describe.each(queueServers)('through a queue of BullMQ and a store in $name', ({ useServer }) => {
  const server = useServer();

  test.each([
    { name: 'two receivers, of the deliveries and of the worker', isShared: false },
    { name: 'one receiver for both in one process', isShared: true },
  ])('an event is one trace, with its retries: $name', async ({ isShared }) => {
    const collected = useOpenTelemetry();
    const tracer = trace.getTracer('test');
    const { promote, receiver, reports, worker } = await openQueueAt(server);
    let runs = 0;
    const create = () =>
      receiver((created) => {
        observeWithOpenTelemetry(created);
        book(async () => {
          runs += 1;
          await new Promise(setImmediate);
          tracer.startActiveSpan('insert', (span) => span.end());
          if (runs === 1) throw new Error('locked');
        })(created);
        created.on('transfer.*', () => {}, { name: 'log' });
      });
    const accepting = create();
    worker(isShared ? accepting : create());
    const delivery = deliveryOf(createEvent('transfer.succeeded'));
    const { status } = await tracer.startActiveSpan('POST', async (span) => {
      const reply = await accepting.receive(delivery);
      span.end();
      return reply;
    });
    expect(status).toBe(202);
    await reports.first(({ outcome }) => outcome === 'failed');
    await pollPromoting(promote, () => reports.all.map(({ outcome }) => outcome)).toEqual([
      'queued',
      'failed',
      'processed',
    ]);
    const job = `POST > ${ENQUEUE} > ${DELIVERY}`;
    expect(collected.tree()).toEqual([
      'POST',
      `POST > ${DELIVERY}`,
      `POST > ${ENQUEUE}`,
      ...[job, job],
      ...[`${job} > handle book`, `${job} > handle book`],
      ...[`${job} > handle book > insert`, `${job} > handle book > insert`],
      `POST > ${DELIVERY} > handle log`,
    ]);
    expect(new Set(collected.spans().map((span) => span.spanContext().traceId)).size).toBe(1);
    const jobs = collected.spans().filter(({ attributes }) => attributes['posthorn.source'] === 'job');
    expect(jobs.map((span) => [span.attributes['posthorn.attempt'], isFailed(span)])).toEqual([
      [1, true],
      [2, false],
    ]);
    const counted = (await collected.points())
      .filter(({ metric }) => metric === 'posthorn.deliveries')
      .map(({ attributes }) => [attributes['posthorn.source'], attributes['posthorn.outcome']]);
    expect(counted).toEqual([
      ['delivery', 'queued'],
      ['job', 'failed'],
      ['job', 'processed'],
    ]);
  });
});
