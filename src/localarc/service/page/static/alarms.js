// What a reader must not overlook: one line for each thing that is wrong, gone when it is right.

const place = document.getElementById("alarms");

/** Show an alarm of a kind; without words, take it away. */
export function alarm(kind, title, words) {
  const old = place.querySelector(`[data-kind="${kind}"]`);
  if (!words) {
    old?.remove();
    return;
  }
  const line = old ?? document.createElement("p");
  line.className = "alarm";
  line.dataset.kind = kind;
  const strong = document.createElement("strong");
  strong.textContent = title;
  if (line.textContent !== `${title} ${words}`) line.replaceChildren(strong, ` ${words}`);
  if (!old) place.append(line);
}

export function clearAlarms() {
  place.replaceChildren();
}
