/** Times in the reader's zone. */
export const timesScript: string = `
const inZone = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: 'numeric',
  hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short',
});
const fromNow = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1_000]];

/** @param {number} ms */
function ago(ms) {
  const difference = ms - Date.now();
  const [unit, length] = units.find(([, each]) => Math.abs(difference) >= each) ?? ['second', 1_000];
  return fromNow.format(Math.trunc(difference / length), unit);
}

/** @param {number} ms */
function timeElement(ms) {
  const date = new Date(ms);
  const created = element('time', '', Number.isNaN(date.getTime()) ? String(ms) : inZone.format(date));
  if (Number.isNaN(date.getTime())) return created;
  created.setAttribute('datetime', date.toISOString());
  created.title = ago(ms) + ', ' + date.toISOString();
  return created;
}

/**
 * The value of a field for a local time, from milliseconds as an address has them.
 * @param {string} text
 */
function localTime(text) {
  const date = new Date(Number(text));
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  if (text === '' || Number.isNaN(local.getTime())) return '';
  return local.toISOString().slice(0, 19);
}

/**
 * Milliseconds from the value of a field for a local time.
 * @param {string} text
 */
function millisecondsOf(text) {
  const ms = new Date(text).getTime();
  return Number.isNaN(ms) ? '' : String(ms);
}
`;
