/** The form that makes an event happen. */
export const sendScript: string = `
/** @type {Record<string, object>} */
const kinds = {
  good: {},
  duplicate: { duplicates: 1 },
  changed: { changed: true },
  'out-of-order': { outOfOrder: true },
};

const typeField = select('type');
const dataField = textArea('data');
/** The sample in the field; any other text is the reader's. */
let sample = '';

/** @param {SubmitEvent} submission */
async function send(submission) {
  submission.preventDefault();
  if (!(submission.target instanceof HTMLFormElement)) return;
  setText(byId('step-result'), '');
  const kind = kinds[String(new FormData(submission.target).get('kind'))];
  const text = dataField.value.trim();
  if (!checkData()) return;
  try {
    const data = text === '' ? {} : { data: JSON.parse(text) };
    const { id } = await post('sandbox/events', { type: typeField.value, ...kind, ...data });
    setText(byId('send-result'), 'sent ' + id);
    await fillSample();
  } catch (error) {
    setText(byId('send-result'), messageOf(error));
  }
}

/** Formats the data, or says that it is not JSON and leaves it as it is. */
function checkData() {
  const text = dataField.value.trim();
  if (text === '' || isJson(text)) {
    dataField.removeAttribute('aria-invalid');
    setText(byId('send-result'), '');
    if (dataField.value !== sample) dataField.value = formatJson(text);
    return true;
  }
  dataField.setAttribute('aria-invalid', 'true');
  setText(byId('send-result'), 'The data is not JSON: ' + faultOf(text));
  return false;
}

/** @param {string} text */
function faultOf(text) {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

/** Fills in a new sample of the type, unless the reader has written something. */
async function fillSample() {
  const isOurs = () => dataField.value.trim() === '' || dataField.value === sample;
  if (!isOurs()) return;
  const type = typeField.value;
  const data = await get('sandbox/samples/' + encodeURIComponent(type));
  if (!isOurs() || typeField.value !== type) return;
  sample = JSON.stringify(data, null, 2);
  dataField.value = sample;
}

/** Without a sample the field stays as it is: the sandbox makes one up for an event without data. */
function offerSample() {
  fillSample().catch(() => {});
}

/**
 * Fills in an event, and takes the reader there.
 * @param {string} type
 * @param {unknown} data
 */
function fillForm(type, data) {
  // A type outside the catalog is not among the options.
  if (![...typeField.options].some(({ value }) => value === type)) typeField.append(new Option(type));
  typeField.value = type;
  sample = '';
  dataField.value = JSON.stringify(data, null, 2);
  dataField.removeAttribute('aria-invalid');
  setText(byId('send-result'), 'a copy of an event: it gets a new id');
  dataField.focus();
}

byId('send').addEventListener('submit', (submission) => {
  if (submission instanceof SubmitEvent) void send(submission);
});
typeField.addEventListener('change', offerSample);
dataField.addEventListener('change', () => {
  if (checkData()) offerSample();
});
offerSample();
`;
