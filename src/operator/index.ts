export type { EntryFilter } from './events/entry-filter.ts';
export type { LetterSelection } from './letters/selection.ts';
export type { Operable, OperableByName } from './operated-receiver.ts';
export type { EventContent, OperatorDeed, OperatorIdentity, OperatorOptions } from './options.ts';
export { type NodeOperatorHandler, toNodeOperator } from './to-node-operator.ts';
export { type OperatorHandler, toOperator } from './to-operator.ts';
