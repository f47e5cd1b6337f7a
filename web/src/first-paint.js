{
  const offered = [...document.querySelectorAll('meta[name=language]')];
  let chosen = null;
  try {
    chosen = localStorage.getItem('inquiries.language');
  } catch {
    // The page itself reports that storage is blocked.
  }
  const wanted = [chosen, ...navigator.languages.map((tag) => tag.slice(0, 2))];
  const find = (language) => offered.find(({ dataset }) => dataset.language === language);
  const found = wanted.map(find).find(Boolean) ?? offered[0];
  const { language, direction, title, wait } = found.dataset;
  Object.assign(document.documentElement, { lang: language, dir: direction });
  document.querySelector('h1').textContent = title;
  document.querySelector('.lead').textContent = wait;
  const link = document.createElement('link');
  document.head.append(Object.assign(link, { rel: 'modulepreload', href: found.content }));
}
