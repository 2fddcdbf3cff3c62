import { elementsScript } from '../../../page/elements.ts';
import { activityScript } from './scripts/activity.ts';
import { clockScript } from './scripts/clock.ts';
import { curlScript } from './scripts/curl.ts';
import { eventsScript } from './scripts/events.ts';
import { filterScript } from './scripts/filter.ts';
import { jsonScript } from './scripts/json.ts';
import { mainScript } from './scripts/main.ts';
import { outcomesScript } from './scripts/outcomes.ts';
import { quotesScript } from './scripts/quotes.ts';
import { sendScript } from './scripts/send.ts';
import { timelineScript } from './scripts/timeline.ts';
import { webhooksScript } from './scripts/webhooks.ts';

/** The script of the page: one module, with its parts in the order of their dependencies. */
export const pageScript: string = [
  elementsScript,
  activityScript,
  jsonScript,
  clockScript,
  outcomesScript,
  curlScript,
  timelineScript,
  eventsScript,
  filterScript,
  webhooksScript,
  quotesScript,
  sendScript,
  mainScript,
].join('');
