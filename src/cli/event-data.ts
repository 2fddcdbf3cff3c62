import { Option } from 'commander';
import { CommandError, usageError } from './failure.ts';
import { readInput } from './input.ts';

export function dataOption(): Option {
  return new Option('--data <json>', "the event's data as JSON, or a file that holds it; - for stdin");
}

/** The data of an event, from the value of `--data`: a JSON object, or the name of a file. */
export async function readEventData(text: string): Promise<object> {
  const json = /^\s*\{/.test(text) ? text : Buffer.from(await readInput(text)).toString();
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch (cause) {
    throw new CommandError('file_unreadable', 'the data of the event is not JSON', { cause });
  }
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  throw usageError('the data of the event must be a JSON object');
}
