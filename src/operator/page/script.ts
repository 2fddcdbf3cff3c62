import { elementsScript } from '../../page/elements.ts';
import { deedScript } from './scripts/deed.ts';
import { deliveriesScript } from './scripts/deliveries.ts';
import { eventsScript } from './scripts/events.ts';
import { fieldsScript } from './scripts/fields.ts';
import { forecastScript } from './scripts/forecast.ts';
import { healthScript } from './scripts/health.ts';
import { lettersScript } from './scripts/letters.ts';
import { mainScript } from './scripts/main.ts';
import { requestsScript } from './scripts/requests.ts';
import { routeScript } from './scripts/route.ts';
import { timesScript } from './scripts/times.ts';
import { treeScript } from './scripts/tree.ts';
import { typesScript } from './scripts/types.ts';
import { wordsScript } from './scripts/words.ts';

/** The script of the page: one module, with its parts in the order of their dependencies. */
export const pageScript: string = [
  typesScript,
  elementsScript,
  routeScript,
  requestsScript,
  timesScript,
  treeScript,
  wordsScript,
  fieldsScript,
  forecastScript,
  deedScript,
  lettersScript,
  deliveriesScript,
  eventsScript,
  healthScript,
  mainScript,
].join('');
