import { randomUUID } from 'node:crypto';
import type { Entity } from '../../providers/banking-service/catalog.ts';
import type { EventData } from '../../providers/banking-service/event-data.ts';
import { entityOf } from '../../receiver/events/event-types.ts';

interface SampleEntity {
  readonly idPrefix: string;
  /** The state after an update: that of a payment is still open, that of an account stays. */
  readonly updated: string;
}

const entities: Readonly<Record<Entity, SampleEntity>> = {
  transfer: { idPrefix: 'TR', updated: 'PENDING' },
  merchant: { idPrefix: 'MU', updated: 'ACTIVE' },
  payment_instrument: { idPrefix: 'PI', updated: 'ACTIVE' },
  settlement: { idPrefix: 'ST', updated: 'PENDING' },
  subscription: { idPrefix: 'SU', updated: 'ACTIVE' },
  dispute: { idPrefix: 'DI', updated: 'PENDING' },
};

/** A map, because the type of an event can be any text, such as `constructor.created`. */
const samples: ReadonlyMap<string, SampleEntity> = new Map(Object.entries(entities));

const unknownEntity: SampleEntity = { idPrefix: 'RS', updated: 'ACTIVE' };

/** The states that the last word of a type says. The real states of the entities are not documented. */
const states: ReadonlyMap<string, string> = new Map([
  ['created', 'PENDING'],
  ['succeeded', 'SUCCEEDED'],
  ['failed', 'FAILED'],
  ['approved', 'APPROVED'],
  ['canceled', 'CANCELED'],
  ['expired', 'EXPIRED'],
  ['won', 'WON'],
  ['lost', 'LOST'],
]);

/**
 * Makes up the data of an event: the members that the interface shows, with a state that fits the type. The
 * sandbox, the test kit and the program use it for an event that is sent without data.
 */
export function createSampleData(type: string): EventData {
  const { idPrefix, updated } = samples.get(entityOf(type)) ?? unknownEntity;
  const state = states.get(type.slice(type.lastIndexOf('.') + 1)) ?? updated;
  return { id: `${idPrefix}${randomUUID().replaceAll('-', '').slice(0, 20)}`, state, amount: 1250, tags: {} };
}
