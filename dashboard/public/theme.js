// Sets the chosen theme before the first paint. A file of its own, because inline scripts are forbidden.
try {
  var theme = localStorage.getItem('runwatch.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch (e) {}
