/** The list of webhooks, each with a button to enable it again. */
export const webhooksScript: string = `
let shownWebhooks = '';

/** @param {Activity} activity */
function showWebhooks({ webhooks }) {
  // A list that stays as it is keeps the focus of its buttons.
  if (JSON.stringify(webhooks) === shownWebhooks) return;
  shownWebhooks = JSON.stringify(webhooks);
  const hadFocus = byId('webhooks').contains(document.activeElement);
  showList('webhooks', webhooks.map(webhookItem));
  // The button that had the focus is gone, and the focus with it.
  if (hadFocus) byId('webhooks-title').focus();
}

/** @param {string} id */
async function enable(id) {
  const result = byId('enable-result');
  try {
    await post('sandbox/webhooks/' + encodeURIComponent(id) + '/enable', {});
    setText(result, 'enabled ' + id);
  } catch (error) {
    setText(result, messageOf(error));
  }
}

/** @param {Webhook} webhook */
function enableButton({ id, url }) {
  const button = element('button', '', 'Enable again');
  button.setAttribute('type', 'button');
  button.setAttribute('aria-label', 'Enable again ' + url);
  button.addEventListener('click', () => void enable(id));
  return button;
}

/** @param {Webhook} webhook */
function webhookItem(webhook) {
  const { id, url, enabled, authentication, enabled_events, updated_at } = webhook;
  const state = element('span', 'badge ' + (enabled ? 'good' : 'bad'), enabled ? 'enabled' : 'disabled');
  const patterns = enabled_events.flatMap(({ entity, types }) =>
    types.length === 0 ? [entity + '.*'] : types.map((type) => entity + '.' + type),
  );
  return element(
    'li', '',
    element('p', 'line', element('span', '', url), state),
    element('p', 'minor id', id),
    element('p', 'minor', (patterns.length === 0 ? 'every event' : patterns.join(', ')) +
      '; authentication ' + authentication + '; updated ' + updated_at),
    ...(enabled ? [] : [enableButton(webhook)]),
  );
}
`;
