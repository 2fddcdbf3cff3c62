/** The list of webhooks, each with a button that shows its key, and one to enable it again. */
export const webhooksScript: string = `
/** @type {Webhook[]} */
let webhooks = [];
let shownWebhooks = '';
/**
 * The signing keys that the reader has asked for, by the id of the webhook.
 * @type {Map<string, string>}
 */
const keys = new Map();

/** @param {Activity} activity */
function showWebhooks(activity) {
  // A list that stays as it is keeps the focus of its buttons.
  if (JSON.stringify(activity.webhooks) === shownWebhooks) return;
  shownWebhooks = JSON.stringify(activity.webhooks);
  webhooks = activity.webhooks;
  renderWebhooks();
}

function renderWebhooks() {
  const focused = document.activeElement;
  const hadFocus = byId('webhooks').contains(focused);
  showList('webhooks', webhooks.map(webhookItem));
  if (!hadFocus || focused === null) return;
  // The button that had the focus is another one now, or is gone.
  (document.getElementById(focused.id) ?? byId('webhooks-title')).focus();
}

/** @param {string} id */
async function enable(id) {
  const result = byId('webhook-result');
  try {
    await post(pathOf(id) + '/enable', {});
    setText(result, 'enabled ' + id);
  } catch (error) {
    setText(result, messageOf(error));
  }
}

/**
 * Shows a key until the reader hides it, or leaves the page.
 * @param {string} id
 */
async function toggleKey(id) {
  try {
    if (!keys.delete(id)) keys.set(id, String((await post(pathOf(id) + '/key', {})).secret_signing_key));
    setText(byId('announcement'), keys.has(id) ? 'the signing key is shown' : 'the signing key is hidden');
  } catch (error) {
    setText(byId('webhook-result'), messageOf(error));
  }
  renderWebhooks();
}

/** @param {string} id */
function pathOf(id) {
  return 'sandbox/webhooks/' + encodeURIComponent(id);
}

/** @param {Webhook} webhook */
function webhookItem({ id, url, enabled, authentication, enabled_events, updated_at }) {
  const state = element('span', 'badge ' + (enabled ? 'good' : 'bad'), enabled ? 'enabled' : 'disabled');
  const patterns = enabled_events.flatMap(({ entity, types }) =>
    types.length === 0 ? [entity + '.*'] : types.map((type) => entity + '.' + type),
  );
  const key = keys.get(id);
  const keyButton = button(key === undefined ? 'Show signing key' : 'Hide signing key', url, () => void toggleKey(id));
  keyButton.id = 'key-' + id;
  const enableButton = button('Enable again', url, () => void enable(id));
  enableButton.id = 'enable-' + id;
  return element(
    'li', '',
    element('p', 'line', element('span', '', url), state),
    element('p', 'minor id', id),
    element('p', 'minor', (patterns.length === 0 ? 'every event' : patterns.join(', ')) +
      '; authentication ' + authentication + '; updated ' + updated_at),
    element('p', 'actions', ...(enabled ? [] : [enableButton]), keyButton),
    ...(key === undefined ? [] : [element('pre', 'key', key)]),
  );
}
`;
