/** The form that makes an event happen. */
export const sendScript: string = `
/** @type {Record<string, object>} */
const kinds = {
  good: {},
  duplicate: { duplicates: 1 },
  changed: { changed: true },
  'out-of-order': { outOfOrder: true },
};

/** @param {SubmitEvent} submission */
async function send(submission) {
  submission.preventDefault();
  if (!(submission.target instanceof HTMLFormElement)) return;
  const form = new FormData(submission.target);
  const result = byId('send-result');
  const field = byId('data');
  field.removeAttribute('aria-invalid');
  try {
    const data = readData(String(form.get('data')));
    const kind = kinds[String(form.get('kind'))];
    const { id } = await post('sandbox/events', { type: form.get('type'), ...kind, ...data });
    setText(result, 'sent ' + id);
  } catch (error) {
    if (error instanceof SyntaxError) field.setAttribute('aria-invalid', 'true');
    const message = messageOf(error);
    setText(result, error instanceof SyntaxError ? 'The data is not JSON: ' + message : message);
  }
}

/** @param {string} text */
function readData(text) {
  return text.trim() === '' ? {} : { data: JSON.parse(text) };
}

byId('send').addEventListener('submit', (submission) => {
  if (submission instanceof SubmitEvent) void send(submission);
});
`;
