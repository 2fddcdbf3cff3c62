/** The page without its data. `base` is the path of its files, encoded as in a URL. */
export function pageHtml(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<base href="${base.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">
<title>posthorn</title>
<link rel="icon" href="page/icon.svg">
<link rel="stylesheet" href="page/style.css">
<script type="module" src="page/page.js"></script>
</head>
<body>
<header>
<h1>posthorn</h1>
<nav aria-label="Views"><ul id="views"></ul></nav>
<p id="receivers" hidden><label for="receiver">Receiver</label> <select id="receiver"></select></p>
<p id="identity" class="minor"></p>
</header>
<noscript>This page needs JavaScript. The same is served as JSON below api/.</noscript>
<main id="view" aria-busy="true"><p>Loading…</p></main>
</body>
</html>
`;
}
