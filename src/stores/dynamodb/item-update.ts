import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './connection.ts';

/** The parts of an UpdateItem that say what it writes, and on which condition. */
export type ItemUpdate = Pick<
  UpdateItemCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

/**
 * Gives an item these attributes, and takes the others of `names` from it. A PutItem would do so in a table
 * with another key as well, where items take each other's place: only an UpdateItem names both attributes of
 * the key. In the condition an attribute of the item is `#<name>`, and its new value `:<name>`.
 */
export function replacement(
  attributes: Attributes,
  names: readonly string[],
  condition: Omit<ItemUpdate, 'UpdateExpression'> = {},
): ItemUpdate {
  const set = names.filter((name) => Object.hasOwn(attributes, name));
  const removed = names.filter((name) => !Object.hasOwn(attributes, name));
  const setExpression = `set ${set.map((name) => `#${name} = :${name}`).join(', ')}`;
  const removeExpression =
    removed.length === 0 ? '' : ` remove ${removed.map((name) => `#${name}`).join(', ')}`;
  return {
    ...condition,
    UpdateExpression: setExpression + removeExpression,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...condition.ExpressionAttributeValues,
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
    },
  };
}
