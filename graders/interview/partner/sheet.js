"use strict";
// The number whose digits are the fields; graders/interview/partner/sheet.py reads it.
const sheet = document.getElementById("sheet").dataset;
const letters = sheet.letters, check = BigInt(sheet.check), bits = BigInt(check.toString(2).length);
const fields = [...document.querySelectorAll("[data-base]")];

function code() {
  let number = 0n;
  for (const field of fields)
    number = number * BigInt(field.dataset.base) + BigInt(field.querySelector("input:checked")?.value ?? 0);
  number = (number << bits) + (BigInt(sheet.spread) * number + BigInt(sheet.salt)) % check;
  let text = "";
  for (; text.length < sheet.length; number >>= 5n) text = letters[Number(number & 31n)] + text;
  return text.match(/.{1,4}/g).join("-");
}

function show() {
  document.querySelectorAll("output").forEach(output => { output.textContent = code(); });
}

const inputs = [...document.querySelectorAll("[data-base] input")];
try { // what was ticked survives a reload; a browser may forbid it
  const kept = new Set(JSON.parse(localStorage.getItem(sheet.name) ?? "[]"));
  inputs.forEach(input => { if (kept.has(input.id)) input.checked = true; });
} catch { }
document.addEventListener("change", () => {
  try {
    localStorage.setItem(sheet.name, JSON.stringify(inputs.filter(input => input.checked).map(input => input.id)));
  } catch { }
  show();
});
show();
