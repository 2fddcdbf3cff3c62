import { catalog } from '../../../providers/banking-service/catalog.ts';
import type { Advice } from './advice.ts';

/** The page without the data of the stream. `base` is the path below which the sandbox is served. */
export function pageHtml(base: string, advice: Advice): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<base href="${base}">
<title>posthorn sandbox</title>
<link rel="icon" href="sandbox/page/icon.svg">
<link rel="stylesheet" href="sandbox/page/style.css">
<script type="module" src="sandbox/page/page.js"></script>
</head>
<body>
<header>
<h1>posthorn sandbox</h1>
<p id="connection" class="badge waiting" role="status">connecting</p>
<noscript>This page needs JavaScript. The same is at /sandbox/deliveries and /sandbox/clock.</noscript>
</header>
<main>
<div class="controls">
${clockAndForm()}
${lists(advice)}
</div>
${eventsSection}
</main>
</body>
</html>
`;
}

function clockAndForm(): string {
  return `<section aria-labelledby="clock-title">
<h2 id="clock-title">Clock</h2>
<p class="time"><time id="now"></time> <span id="pace" class="minor"></span></p>
<p id="next"></p>
<p id="ahead" class="note" hidden></p>
<button type="button" id="step" aria-disabled="true">Step to the next retry</button>
<p id="step-result" role="status"></p>
</section>
<section aria-labelledby="send-title">
<h2 id="send-title">Send an event</h2>
<form id="send">
<label for="type">Type</label>
<select id="type" name="type">
${typeOptions()}
</select>
<fieldset>
<legend>How</legend>
${kinds.map(kindOption).join('\n')}
</fieldset>
<label for="data">Data, as JSON</label>
<textarea id="data" name="data" rows="7" spellcheck="false" autocomplete="off"
 aria-describedby="data-hint send-result"></textarea>
<p id="data-hint" class="minor">A sample of the type, until you edit it. Empty it to get a new one.</p>
<button type="submit">Send</button>
<p id="send-result" role="status"></p>
</form>
</section>`;
}

/** The lists of webhooks and quotes, with the commands that fill them. */
function lists(advice: Advice): string {
  return `<section aria-labelledby="webhooks-title">
<h2 id="webhooks-title" tabindex="-1">Webhooks</h2>
<ul id="webhooks"></ul>
<p id="webhook-result" class="minor" role="status"></p>
<div id="no-webhooks">
<p class="minor">None yet. Create one in a terminal, with the address of your receiver:</p>
${advice.webhook}
</div>
</section>
<section aria-labelledby="quotes-title">
<h2 id="quotes-title">FX quotes</h2>
<ul id="quotes"></ul>
<div id="no-quotes">
<p class="minor">None yet. Ask for one in a terminal:</p>
${advice.quote}
</div>
</section>`;
}

const eventsSection = `<section aria-labelledby="events-title">
<h2 id="events-title">Events</h2>
<p id="announcement" class="unseen" role="status"></p>
<div class="filter" role="group" aria-label="Filter">
<span><label for="shown-type">By type</label>
<select id="shown-type"><option value="">all</option></select></span>
<span><label for="shown-outcome">By outcome</label>
<select id="shown-outcome"><option value="">all</option></select></span>
<button type="button" id="clear" class="quiet">Clear</button>
</div>
<p id="matches" class="minor"></p>
<p id="clear-result" class="minor" role="status"></p>
<ol id="events" reversed></ol>
<p id="no-events" class="minor">None yet. Send one.</p>
</section>`;

function typeOptions(): string {
  const groups = Object.entries(catalog).map(([entity, types]) => {
    const options = types.map((type) => {
      const isFirst = entity === 'transfer' && type === 'succeeded';
      return `<option${isFirst ? ' selected' : ''}>${entity}.${type}</option>`;
    });
    return `<optgroup label="${entity}">\n${options.join('\n')}\n</optgroup>`;
  });
  return groups.join('\n');
}

const kinds = [
  { value: 'good', name: 'Good', hint: 'once, as it is' },
  { value: 'duplicate', name: 'Duplicate', hint: 'twice at the same moment' },
  { value: 'changed', name: 'Changed', hint: 'its body is changed after it was signed: expect 403' },
  { value: 'out-of-order', name: 'Out of order', hint: 'two of one resource, the newer first' },
] as const;

function kindOption({ value, name, hint }: (typeof kinds)[number], index: number): string {
  return (
    `<label><input type="radio" name="kind" value="${value}"${index === 0 ? ' checked' : ''}> ` +
    `${name} <span class="minor">${hint}</span></label>`
  );
}
