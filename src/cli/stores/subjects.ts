import { stores } from '../../stores/list.ts';
import { Places } from './places.ts';

/** The stores with dead letters. */
export const letterPlaces: Places = new Places(
  {
    name: 'the dead letters',
    verb: 'are',
    stored: 'dead letters',
    possessive: 'their',
    otherPlace: '--dir DIRECTORY for files',
  },
  stores,
);

/** The stores with a journal. */
export const journalPlaces: Places = new Places(
  { name: 'the journal', verb: 'is', stored: 'a journal', possessive: 'its' },
  stores.filter(({ journal }) => journal !== undefined),
);
