// Sorts a table of a report by the column whose heading is clicked; rows of sums stay last.
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const th = button.closest("th"), table = th.closest("table"), at = [...th.parentNode.children].indexOf(th);
  const up = th.getAttribute("aria-sort") !== "ascending";
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  th.setAttribute("aria-sort", up ? "ascending" : "descending");
  const body = table.tBodies[0], key = row => row.cells[at].dataset.value ?? row.cells[at].textContent;
  const rows = [...body.rows].filter(row => !row.classList.contains("sum"));
  const sums = [...body.rows].filter(row => row.classList.contains("sum"));
  rows.sort((a, b) => {
    const x = key(a), y = key(b), n = x - y;
    return (up ? 1 : -1) * (Number.isNaN(n) ? String(x).localeCompare(String(y), undefined, {numeric: true}) : n);
  });
  body.append(...rows, ...sums);
});
