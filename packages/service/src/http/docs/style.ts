/** One column to read, contents beside it, for day and night. */
export const style = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1c1e21, #e4e6e9);
  --quiet: light-dark(#5c636b, #9aa2ab);
  --line: light-dark(#dfe2e6, #33383f);
  --page: light-dark(#ffffff, #15171a);
  --panel: light-dark(#f5f6f8, #1e2126);
  --link: light-dark(#0b5cad, #7db8f5);
  --failure: light-dark(#a8321f, #f0907f);
  --success: light-dark(#1d6f42, #74cf9c);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr);
  background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem;
  border-right: 1px solid var(--line); font-size: 0.875rem;
}
nav p { margin: 1.25rem 0 0.25rem; color: var(--quiet); font-weight: 600; }
nav .brand { margin-top: 0; color: var(--text); font-size: 1rem; }
nav .brand span { color: var(--quiet); font-weight: 400; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { margin: 0.2rem 0; }
main { max-width: 56rem; padding: 2rem 2.5rem 6rem; }
h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3.5rem 0 0.25rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 1.5rem; }
h3 { margin: 2.5rem 0 0.5rem; font-size: 1.2rem; }
h4 { margin: 1.5rem 0 0.5rem; font-size: 0.95rem; }
p, ul { margin: 0.6rem 0; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
.lead, .headers, .constraints { color: var(--quiet); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.86em; }
code { overflow-wrap: anywhere; }
p code, li code, td code, summary code { padding: 0.1em 0.3em; border-radius: 4px; background: var(--panel); }
pre { margin: 0.6rem 0; padding: 0.9rem 1rem; overflow-x: auto; border-radius: 8px; background: var(--panel); }
pre code { padding: 0; white-space: pre; font-size: 0.82rem; line-height: 1.5; }
.route code { background: none; font-size: 1rem; }
.method { font: 600 0.8rem ui-monospace, Menlo, Consolas, monospace; color: var(--success); margin-right: 0.4rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th { text-align: left; color: var(--quiet); font-weight: 600; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:nth-child(1) { width: 30%; }
td:nth-child(2) { width: 18%; color: var(--quiet); }
.required { display: block; color: var(--failure); font-size: 0.75rem; }
td .constraints { display: block; font-size: 0.82rem; margin-top: 0.15rem; }
details { margin: 0.4rem 0; border: 1px solid var(--line); border-radius: 8px; padding: 0.5rem 0.9rem; }
summary { cursor: pointer; }
.failure summary strong { color: var(--failure); }
.success summary strong { color: var(--success); }
.headers { font-size: 0.85rem; }
@media (max-width: 60rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1.5rem; }
}
@media print {
  nav { display: none; }
  body { display: block; }
}
`;
