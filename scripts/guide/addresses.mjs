// Where the pages of the guide are, by their files below `docs/`.

/** `README.md` is the page of its folder: `operating/README.md` → `operating`. */
export function pageName(file) {
  return file.replace(/(^|\/)README\.md$/, '').replace(/\.md$/, '') || 'index';
}

export function addressOfPage(file) {
  const name = pageName(file);
  return name === 'index' ? '/docs/guide' : `/docs/guide/${name}`;
}
