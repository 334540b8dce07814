// Sets the chosen theme and motion before the first paint. A file of its own, because inline scripts are forbidden.
try {
  for (var name of ['theme', 'motion']) {
    var value = localStorage.getItem('runwatch.' + name)
    if (/^(light|dark|reduce)$/.test(value)) document.documentElement.dataset[name] = value
  }
} catch (e) {}
