/** The list of webhooks. */
export const webhooksScript: string = `
/** @param {Activity} activity */
function showWebhooks({ webhooks }) {
  showList('webhooks', webhooks.map(webhookItem));
}

/** @param {Webhook} webhook */
function webhookItem({ id, url, enabled, authentication, enabled_events, updated_at }) {
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
  );
}
`;
